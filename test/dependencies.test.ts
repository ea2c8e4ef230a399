import { readFileSync } from 'node:fs';

/**
 * Every package that runs beside ours is one to trust and to keep up with (tenancy S29). Packages of fonts are
 * not counted: they contain no code.
 */
const PACKAGES_MAX = 205;
const FONTS = 'node_modules/@fontsource-variable/';

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

const isInstalled = ({ dev, devOptional }: LockedPackage): boolean =>
  dev !== true && devOptional !== true;

test(`an installation without development has at most ${PACKAGES_MAX} packages, builds for every platform counted`, () => {
  const file = new URL('../package-lock.json', import.meta.url);
  const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.keys(packages).filter(
    (path) => path !== '' && !path.startsWith(FONTS) && isInstalled(packages[path]!),
  );
  process.stdout.write(`production packages: ${installed.length}\n`);
  // The lock file lists the whole product's packages, not a part of them.
  expect(installed).toContain('node_modules/fastify');
  expect(installed.length).toBeLessThanOrEqual(PACKAGES_MAX);
});

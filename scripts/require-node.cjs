/* Written for any version of Node: names the required version before the product fails with an unrelated error. */
var minimum = require('../package.json').engines.node.replace(/[^0-9.]/g, '');
var have = process.versions.node;

function isAtLeast(version, wanted) {
  var a = version.split('.');
  var b = wanted.split('.');
  for (var i = 0; i < b.length; i += 1) {
    if (Number(a[i]) !== Number(b[i])) return Number(a[i]) > Number(b[i]);
  }
  return true;
}

if (!isAtLeast(have, minimum)) {
  console.error(
    'Meterline needs Node ' +
      minimum +
      ' or later, and this is Node ' +
      have +
      ': install a newer one from https://nodejs.org and run the command again.',
  );
  process.exit(1);
}

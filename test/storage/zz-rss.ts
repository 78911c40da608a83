const mb = () => (process.memoryUsage().rss / 1048576).toFixed(0);
const t00 = performance.now();
console.log('base', mb());
const { openStore } = await import('../../src/storage/open.ts');
console.log('imported', mb(), (performance.now() - t00).toFixed(0));
const t0 = performance.now();
const log = { warn: console.warn, error: console.error };
const store = await openStore({ url: 'sqlite:/tmp/spike/r.db', queueMaxBytes: 64 << 20, log });
console.log('open ms', (performance.now() - t0).toFixed(0), 'rss', mb());
await new Promise((r) => setTimeout(r, 1500));
console.log('idle', mb());
await store.ready();
if (process.argv[2] === 'orm') {
  const t = performance.now();
  await store.evaluators.find('x', 'y');
  console.log('orm verb', (performance.now() - t).toFixed(0), mb());
}
await store.close();

/** A process that only listens for wake-ups of others and prints one line when it does. */

import { createWakeUps } from '../../src/storage/engine/postgres/delivery-wake.ts';
import { openPool } from '../../src/storage/engine/postgres/pool.ts';

const [url = ''] = process.argv.slice(2);
const pool = openPool({ url, name: 'test', connectionsMax: 1, statementTimeoutMs: 1_000 });
const listening = new Promise<void>((resolve) => createWakeUps({ url, pool }).listen(resolve));
// Keeps the process alive until the connection exists.
const alive = setTimeout(() => undefined, 30_000);
await listening;
clearTimeout(alive);
process.stdout.write('listening\n');

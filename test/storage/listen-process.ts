/** A process of its own that listens for others, says so in one line, and has nothing else to do. */

import { openLane } from '../../src/storage/engine/postgres/connection.ts';
import { createWakeUps } from '../../src/storage/engine/postgres/delivery-wake.ts';

const [url = ''] = process.argv.slice(2);
const lane = openLane({ url, name: 'test', connectionsMax: 1, statementTimeoutMs: 1_000 });
const listening = new Promise<void>((resolve) => createWakeUps({ url, lane }).listen(resolve));
// Nothing else keeps it alive until the connection stands.
const alive = setTimeout(() => undefined, 30_000);
await listening;
clearTimeout(alive);
process.stdout.write('listening\n');

/** A process that opens a store, prints one line with the result, and keeps it open until killed. */

import { StartError } from '../../src/storage/errors.ts';
import { openStore } from '../../src/storage/open.ts';
import { quietLog } from './quiet-log.ts';

const [url = ''] = process.argv.slice(2);
try {
  await openStore({ url, queueMaxBytes: 1024, log: quietLog });
  process.stdout.write('open\n');
} catch (error) {
  const kind = error instanceof StartError ? 'refused' : 'failed';
  process.stdout.write(`${kind}: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

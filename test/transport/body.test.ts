import { once } from 'node:events';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { createReadBudget } from '../../src/transport/read-budget.ts';
import { readBody } from '../../src/transport/rest/body.ts';
import { createBodyWatch } from '../../src/transport/rest/body-watch.ts';
import type { RestRequest } from '../../src/transport/rest/exchange.ts';

it('a body whose client disconnected before it was read is given up at once', async () => {
  const watch = createBodyWatch({ gapMs: 60_000, wholeMs: 60_000 }, () => performance.now());
  onTestFinished(() => watch.close());
  const left = Object.assign(new Readable({ read() {} }), { headers: {} });
  left.destroy();
  await once(left, 'close');
  const body = readBody(left as unknown as RestRequest, {
    sizeMaxBytes: 100,
    watch,
    inflate: () => Promise.resolve('broken'),
    owner: () => 'caller',
    onBytes: () => {},
    reading: createReadBudget({ bytesPerTurn: 65_536 }),
  });
  await expect(body).rejects.toMatchObject({ code: 'malformed_request' });
});

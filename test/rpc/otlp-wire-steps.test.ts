import { expect, it } from 'vitest';
import { readWireExport } from '../../src/rpc/traces/otlp-wire.ts';

const FIELDS = 5_000;

function message(tag: number, content: Buffer): Buffer {
  const length = [(content.length & 0x7f) | 0x80, ((content.length >>> 7) & 0x7f) | 0x80, content.length >>> 14];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

it('a span of many fields is read with pauses', () => {
  const span = Buffer.from(Array.from({ length: FIELDS }, () => [0x4a, 0]).flat());
  const steps = readWireExport(message(0x0a, message(0x12, message(0x12, span))), 10);
  let pauses = 0;
  for (;;) {
    const step = steps.next();
    if (step.done === true) {
      expect(step.value.spans).toHaveLength(1);
      break;
    }
    pauses += 1;
  }
  expect(pauses).toBeGreaterThan(FIELDS / 512);
});

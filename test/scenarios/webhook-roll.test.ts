import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Push } from '../support/receiver.ts';
import { until } from '../support/temp.ts';
import { startWebhookFixture, type WebhookFixture } from '../support/webhook-fixture.ts';

const OVERLAP_SECONDS = 240;
const PATH = '/rolled';

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await startWebhookFixture();
});
afterAll(() => fixture.close());

/** The next delivery of one event. */
async function push(): Promise<Push> {
  const before = fixture.receiver.of(PATH).length;
  await fixture.report(1);
  await until(() => fixture.receiver.of(PATH).length > before);
  const [pushed] = fixture.receiver.of(PATH).slice(before);
  if (pushed === undefined) throw new Error('nothing arrived');
  return pushed;
}

/** The verdict of a receiver with this secret, on the day of the server's clock. */
function isVerified(secret: string, { body, headers }: Push): boolean {
  const sent = {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  };
  try {
    new Webhook(secret).verify(body, sent);
    return true;
  } catch {
    return false;
  }
}

function signaturesOf({ headers }: Push): number {
  return String(headers['webhook-signature']).split(' ').length;
}

it('the standardwebhooks package verifies deliveries before, during and after a roll', async () => {
  const { id, secret: first } = await fixture.create(fixture.receiver.url(PATH), { max_batch_delay_ms: 0 });
  const before = await push();
  expect([isVerified(first, before), signaturesOf(before)]).toEqual([true, 1]);

  const second = await fixture.roll(id, OVERLAP_SECONDS);
  const during = await push();
  expect([isVerified(first, during), isVerified(second, during), signaturesOf(during)]).toEqual([true, true, 2]);

  // Not so far ahead that the verifying package would reject the timestamp.
  await fixture.pass(OVERLAP_SECONDS * 1000);
  const after = await push();
  expect([isVerified(first, after), isVerified(second, after), signaturesOf(after)]).toEqual([false, true, 1]);

  const third = await fixture.roll(id, 0);
  const atOnce = await push();
  expect([isVerified(second, atOnce), isVerified(third, atOnce), signaturesOf(atOnce)]).toEqual([false, true, 1]);
});

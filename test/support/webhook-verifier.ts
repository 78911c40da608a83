/** Verifies signatures like a receiver, by the contract and not by the signing code. */

import { createHmac, timingSafeEqual } from 'node:crypto';

export type Received = { readonly id: string; readonly timestamp: string; readonly body: Buffer };

/** Whether any of the signatures of a webhook-signature header was made with the secret. */
export function verifiesStandard(secret: string, { id, timestamp, body }: Received, header: string): boolean {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  return header.split(' ').some((signature) => isSame(signature, expected));
}

/** The same for X-LangWatch-Signature. */
export function verifiesLangwatch(secret: string, { timestamp, body }: Received, header: string): boolean {
  const [time, ...signatures] = header.split(',');
  if (time !== `t=${timestamp}`) return false;
  const expected = `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
  return signatures.some((signature) => isSame(signature, expected));
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

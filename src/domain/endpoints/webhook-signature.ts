/** The two signatures of every delivery. */

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { RandomBytes } from '../clock.ts';
import type { Signatures } from './destination.ts';

/** A secret as keys for signing. Creating the keys costs more than signing, so callers keep them. */
export type SigningSecret = {
  /** Standard Webhooks signs with the bytes after the prefix. */
  readonly standard: KeyObject;
  /** LangWatch signs with the whole text, prefix included. */
  readonly langwatch: KeyObject;
};

type SignedMessage = {
  /** Newest first, at least one. */
  readonly secrets: readonly SigningSecret[];
  readonly dispatchId: string;
  /** Seconds since the Unix epoch. */
  readonly timestamp: number;
  readonly body: Buffer;
};

const PREFIX = 'whsec_';
const KEY_BYTES = 32;

/** `whsec_` and 32 random bytes in base64. */
export function mintWebhookSecret(random: RandomBytes): string {
  return PREFIX + random(KEY_BYTES).toString('base64');
}

export function openWebhookSecret(secret: string): SigningSecret {
  return {
    standard: createSecretKey(Buffer.from(secret.slice(PREFIX.length), 'base64')),
    langwatch: createSecretKey(Buffer.from(secret, 'utf8')),
  };
}

/** Signs the body without copying it. */
export function signMessage({ secrets, dispatchId, timestamp, body }: SignedMessage): Signatures {
  let standard = '';
  let langwatch = `t=${timestamp}`;
  for (const secret of secrets) {
    const digest = createHmac('sha256', secret.standard).update(`${dispatchId}.${timestamp}.`).update(body);
    standard += `${standard === '' ? '' : ' '}v1,${digest.digest('base64')}`;
    langwatch += `,v1=${createHmac('sha256', secret.langwatch).update(`${timestamp}.`).update(body).digest('hex')}`;
  }
  return { standard, langwatch };
}

/** The sealed secrets of endpoints: signing secrets and the key of a queue. Senders open them here too. */

import type { RandomBytes } from '../clock.ts';
import { type EncryptionKeys, openFor, sealFor } from '../secrets.ts';
import type { Destination, KeyPair, SqsCredentials } from './destination.ts';
import type { EndpointRecord, SqsRecord } from './endpoint.ts';

type SecretField = 'secret' | 'previous_secret' | 'sqs_secret';

type SigningEndpoint = Pick<EndpointRecord, 'id' | 'secret' | 'previousSecret' | 'previousSecretUntilMs'>;

const TABLE = 'webhook_endpoints';

export type EndpointSecrets = ReturnType<typeof createEndpointSecrets>;

export function createEndpointSecrets(deps: { readonly encryptionKeys: EncryptionKeys; readonly random: RandomBytes }) {
  const bindingOf = (endpointId: string, field: SecretField) => ({
    keys: deps.encryptionKeys,
    belongsTo: `${TABLE}/${endpointId}/${field}`,
  });
  /** Throws for a secret that was sealed for another endpoint or field, or with another key. */
  const open = (endpointId: string, field: SecretField, sealed: Buffer) =>
    openFor(bindingOf(endpointId, field), sealed).toString('utf8');
  return {
    seal: (endpointId: string, field: SecretField, secret: string) =>
      sealFor(bindingOf(endpointId, field), Buffer.from(secret), deps.random),
    open,
    /** The secrets that sign an attempt at `nowMs`, newest first. */
    signing({ id, secret, ...endpoint }: SigningEndpoint, nowMs: number): readonly string[] {
      const previous = overlappingSecret(endpoint, nowMs);
      const current = open(id, 'secret', secret);
      return previous === null ? [current] : [current, open(id, 'previous_secret', previous)];
    },
    /** The destination with its opened credentials. */
    destination({ id, url, sqs }: EndpointRecord): Destination {
      if (sqs !== null) {
        const { queueUrl } = sqs;
        return { kind: 'sqs', queueUrl, credentials: credentialsOf(sqs, (sealed) => open(id, 'sqs_secret', sealed)) };
      }
      if (url === null) throw new Error('an endpoint has no destination');
      return { kind: 'http', url };
    },
  };
}

/** The sealed previous secret until the end of its overlap (exclusive); null afterwards. */
export function overlappingSecret(
  { previousSecret, previousSecretUntilMs }: Pick<EndpointRecord, 'previousSecret' | 'previousSecretUntilMs'>,
  nowMs: number,
): Buffer | null {
  return previousSecretUntilMs !== null && nowMs < previousSecretUntilMs ? previousSecret : null;
}

function credentialsOf(sqs: SqsRecord, open: (sealed: Buffer) => string): SqsCredentials {
  const { roleArn, externalId, accessKeyId, secretAccessKey } = sqs;
  const pair: KeyPair | null =
    accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey: open(secretAccessKey) };
  if (roleArn !== null) return { mode: 'assume_role', roleArn, externalId, base: pair };
  return pair === null ? { mode: 'ambient' } : { mode: 'static', ...pair };
}

/** Converts webhook endpoints between rows and records. */

import type { EndpointRecord, SqsRecord } from '../../domain/endpoints/endpoint.ts';

/** The columns of webhook_endpoints that follow from an EndpointRecord. */
type EndpointCells = Omit<EndpointRecord, 'sqs' | 'enabledEvents'> & {
  /** JSON without the secret. */
  readonly sqs: string | null;
  readonly sqsSecret: Buffer | null;
  /** JSON. */
  readonly enabledEvents: string;
};

export function packEndpoint(record: EndpointRecord): EndpointCells {
  const { sqs, enabledEvents, secret, previousSecret, ...rest } = record;
  return {
    ...rest,
    sqs: sqs === null ? null : JSON.stringify({ ...sqs, secretAccessKey: null }),
    sqsSecret: toBufferOrNull(sqs?.secretAccessKey),
    enabledEvents: JSON.stringify(enabledEvents),
    secret: toBuffer(secret),
    previousSecret: toBufferOrNull(previousSecret),
  };
}

type Packed = 'sqs' | 'enabledEvents' | 'secret' | 'previousSecret';

/** Other members of the row are kept. */
export function unpackEndpoint<Row extends Pick<EndpointCells, Packed | 'sqsSecret'>>(
  row: Row,
): Omit<Row, Packed | 'sqsSecret'> & Pick<EndpointRecord, Packed> {
  const { sqs, sqsSecret, enabledEvents, secret, previousSecret, ...rest } = row;
  return {
    ...rest,
    sqs: sqs === null ? null : { ...(JSON.parse(sqs) as SqsRecord), secretAccessKey: toBufferOrNull(sqsSecret) },
    enabledEvents: JSON.parse(enabledEvents),
    secret: toBuffer(secret),
    previousSecret: toBufferOrNull(previousSecret),
  };
}

export function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function toBufferOrNull(bytes: Uint8Array | null | undefined): Buffer | null {
  return bytes ? toBuffer(bytes) : null;
}

/** Converts webhook endpoints between rows and records. */

import type { EndpointRecord } from '../../domain/endpoints/endpoint.ts';

/** The columns of webhook_endpoints that follow from an EndpointRecord. */
type EndpointCells = EndpointRecord & { readonly sqsSecret: Buffer | null };

export function packEndpoint(record: EndpointRecord): EndpointCells {
  const { sqs, secret, previousSecret, ...rest } = record;
  return {
    ...rest,
    sqs: sqs && { ...sqs, secretAccessKey: null },
    sqsSecret: toBufferOrNull(sqs?.secretAccessKey),
    secret: toBuffer(secret),
    previousSecret: toBufferOrNull(previousSecret),
  };
}

type Packed = 'sqs' | 'secret' | 'previousSecret';

/** Other members of the row are kept. */
export function unpackEndpoint<Row extends Pick<EndpointCells, Packed | 'sqsSecret'>>(
  row: Row,
): Omit<Row, Packed | 'sqsSecret'> & Pick<EndpointRecord, Packed> {
  const { sqs, sqsSecret, secret, previousSecret, ...rest } = row;
  return {
    ...rest,
    sqs: sqs && { ...sqs, secretAccessKey: toBufferOrNull(sqsSecret) },
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

/** Errors as Connect, gRPC-Web and streaming gRPC send them, the library's own included. */

import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError, createContextKey, type Interceptor } from '@connectrpc/connect';
import { Fault, validationFault } from '../domain/fault.ts';
import { toFault } from '../rpc/invoke.ts';
import type { CallIds } from '../rpc/method.ts';
import { unknownFieldReason } from '../rpc/unknown-members.ts';
import { deadlineFault } from './call-deadline.ts';
import { tooLarge, unnamedCompression } from './grpc-message.ts';
import { errorMetadata, errorStatus, type Family } from './status.ts';

/** What the errors of one call look like. */
export type ErrorShape = {
  readonly family: Family;
  readonly ids: CallIds;
  readonly sizeMaxBytes: number;
  /** Null where there is no message of ours. */
  readonly input: DescMessage | null;
  /** Called with every fault that becomes an error of the call. */
  readonly onFault?: (fault: Fault) => void;
};

export const shapeKey = createContextKey<ErrorShape | null>(null);

/** Turns what the code behind an rpc throws into what goes over the wire. */
export const faultsToErrors: Interceptor = (next) => async (request) => {
  const shape = request.contextValues.get(shapeKey);
  const translate = (error: unknown) =>
    error instanceof ConnectError || !shape ? error : toConnectError(toFault(error), shape);
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: translateAll(response.message, translate) } : response;
  } catch (error) {
    throw translate(error);
  }
};

async function* translateAll<T>(messages: AsyncIterable<T>, translate: (error: unknown) => unknown): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw translate(error);
  }
}

export function toConnectError(fault: Fault, { family, ids, onFault }: ErrorShape): ConnectError {
  onFault?.(fault);
  const { code, message, details } = errorStatus(fault, family, ids);
  return new ConnectError(message, code, errorMetadata(fault), [...details], fault);
}

/** An error with which the call is answered instead of its own. */
export const refusalKey = createContextKey<ConnectError | null>(null);

/**
 * The error to answer with instead of one that the library raised (a message it could not read, one that is too large, an
 * unknown compression). Null for our own errors, which have details.
 */
export function replaceLibraryError(reason: unknown, shape: ErrorShape): ConnectError | null {
  if (!(reason instanceof ConnectError) || reason.details.length > 0) return null;
  return toConnectError(libraryFault(reason, shape), shape);
}

function libraryFault(error: ConnectError, { sizeMaxBytes, input }: ErrorShape): Fault {
  if (error.code === Code.ResourceExhausted) return tooLarge(sizeMaxBytes);
  if (error.code === Code.DeadlineExceeded) return deadlineFault();
  if (error.code === Code.Internal && error.rawMessage.startsWith('received compressed envelope'))
    return unnamedCompression();
  if (error.code === Code.Unimplemented && error.rawMessage.startsWith('unknown compression')) {
    return new Fault('unsupported_encoding', 'The compression is not supported; gzip is.');
  }
  const [, type = '', unknown] = UNKNOWN_MEMBER.exec(error.rawMessage) ?? [];
  if (unknown !== undefined && input !== null) {
    return validationFault('json', [unknownFieldReason(unknown, input, type)]);
  }
  return new Fault('malformed_request', 'The message could not be decoded.', { meta: detailOf(error.rawMessage) });
}

const UNKNOWN_MEMBER = /^cannot decode message (\S+) from JSON: key "(.+)" is unknown$/s;

/** Names the field of a JSON message that could not be decoded, without the types and values in the library's message. */
function detailOf(libraryMessage: string): { readonly detail?: string } {
  const field = /cannot decode field \S+?\.(\w+) from JSON/.exec(libraryMessage)?.[1];
  return field === undefined ? {} : { detail: `${field} has a value of the wrong type` };
}

/** Reads the one length-prefixed message of a unary gRPC request. */

import type { ServerHttp2Stream } from 'node:http2';
import { Fault } from '../domain/fault.ts';
import { createGrowingBuffer } from './growing-buffer.ts';
import type { ReadBudget } from './read-budget.ts';

const PREFIX_BYTES = 5;

type MessageLimits = {
  readonly sizeMaxBytes: number;
  /** Called with the size of every chunk before it is kept; throws where there is no room for it. */
  readonly onBytes: (bytes: number) => void;
  readonly reading: ReadBudget;
};

/**
 * Resolves with the bytes of the message once the client has sent all of it. Refuses by the announced length, so at
 * most `sizeMaxBytes` and one frame are held. Rejects when the client disconnects first.
 */
export function readGrpcMessage(stream: ServerHttp2Stream, limits: MessageLimits): Promise<Buffer> {
  const { sizeMaxBytes, onBytes, reading } = limits;
  return new Promise((resolve, reject) => {
    let held = createGrowingBuffer();
    let expected = -1;
    let settled = false;
    const fail = (fault: unknown) => {
      settled = true;
      held = createGrowingBuffer();
      stream.off('data', onData);
      stream.pause();
      reject(fault);
    };
    const goOn = () => {
      if (!settled) stream.resume();
    };
    function onData(chunk: Buffer): void {
      try {
        onBytes(chunk.length);
      } catch (error) {
        fail(error);
        return;
      }
      held.add(chunk);
      const size = held.size();
      if (expected < 0 && size >= PREFIX_BYTES) {
        const [flag, length] = readPrefix(held.bytes());
        expected = PREFIX_BYTES + length;
        if (flag !== 0) fail(unnamedCompression());
        else if (length > sizeMaxBytes) fail(tooLarge(sizeMaxBytes));
      }
      if (!settled && expected >= 0 && size > expected) fail(malformed('A unary call takes exactly one message.'));
      if (!settled && !reading.spend(chunk.length, size, goOn)) stream.pause();
    }
    const onEnd = () => {
      if (settled) return;
      if (held.size() === expected) {
        settled = true;
        resolve(held.bytes().subarray(PREFIX_BYTES));
      } else {
        fail(malformed('The call ended before its message was complete.'));
      }
    };
    const onClose = () => {
      if (!settled) fail(new Fault('request_timeout', 'The caller left before its message was complete.'));
    };
    stream.on('data', onData).on('end', onEnd).on('close', onClose);
    // Either event may have passed while the credential was checked, and is not emitted again.
    if (stream.readableEnded) onEnd();
    else if (stream.destroyed) onClose();
  });
}

function readPrefix(bytes: Buffer): readonly [flag: number, length: number] {
  return [bytes.readUInt8(0), bytes.readUInt32BE(1)];
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', message);
}

/** A client library wrote this frame, not the caller, so gRPC has another status for it. */
export function unnamedCompression(): Fault {
  return new Fault('malformed_request', 'The message is compressed without saying how.', { kind: 'broken_framing' });
}

export function tooLarge(sizeMaxBytes: number): Fault {
  return new Fault('payload_too_large', `The message is larger than ${sizeMaxBytes} bytes.`, {
    meta: { limitBytes: sizeMaxBytes },
  });
}

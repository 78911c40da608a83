/** The log of the process: one JSON object a line, on standard error. */

import { type DestinationStream, type Logger, pino } from 'pino';
import { maskTokens } from '../domain/token-mask.ts';

const STANDARD_ERROR = 2;

/** Masks whole lines as they are written, so that no field and no error of a library leaks a token. */
export function createLog(
  level: string,
  stream: DestinationStream = pino.destination({ fd: STANDARD_ERROR, sync: true }),
): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: maskTokens } },
    stream,
  );
}

/** Refuses servers of ClickHouse that are too old, or that may lose what they acknowledged. */

import { messageOf, StartError } from '../errors.ts';
import { type ClickHouse, isRefusal } from './client.ts';

/** The first version with everything that the statements use. */
const OLDEST = { major: 24, minor: 8 };

export type ServerFacts = { readonly version: string };

/** Throws StartError with what to do. */
export async function refuseUnfit({ rows }: ClickHouse): Promise<ServerFacts> {
  const [server] = await rows<{ version: string; readonly: number }>(
    `SELECT version() AS version, toUInt8(getSetting('readonly')) AS readonly`,
  );
  if (server === undefined) throw new StartError('no ClickHouse answers: correct SPANDREL_TELEMETRY_URL');
  const { version, readonly } = server;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    throw new StartError(
      `ClickHouse ${version} is too old: SPANDREL_TELEMETRY_URL needs ${OLDEST.major}.${OLDEST.minor} or newer; upgrade it, or unset the setting`,
    );
  }
  if (readonly !== 0) {
    throw new StartError(`the user of SPANDREL_TELEMETRY_URL may only read: ${GIVE_RIGHTS}`);
  }
  return { version };
}

const GIVE_RIGHTS = 'give it the rights to select, create, insert, truncate, drop and ALTER DELETE';

/** Throws StartError for an error that says that the server refuses the user, and others as they are. */
export function refuseRefusal(error: Error): never {
  if (!isRefusal(error)) throw error;
  const reason = messageOf(error.cause);
  throw new StartError(
    `ClickHouse refuses the user of SPANDREL_TELEMETRY_URL (${reason}): correct name and password, and ${GIVE_RIGHTS}`,
  );
}

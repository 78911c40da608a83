/** Checks whether the database can be written to. */

import { emptyProbe, fillProbe } from '../../../../gen/storage/postgres/append.ts';
import { isStorageFailure, storageFault } from './failures.ts';
import type { Pool } from './pool.ts';

export type Probe = {
  /** Runs a write and remembers whether the database failed it. */
  watch<T>(write: () => Promise<T>): Promise<T>;
  /** Throws the unavailable Fault unless reads and writes work. */
  check(): Promise<void>;
};

const STATE = {
  name: 'probe-state',
  text: `SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly"`,
};
const FILLER_BYTES = 65_536;

export function createProbe(pool: Pool): Probe {
  let writesFail = false;

  async function watch<T>(write: () => Promise<T>): Promise<T> {
    try {
      const answer = await write();
      writesFail = false;
      return answer;
    } catch (error) {
      if (isStorageFailure(error)) writesFail = true;
      throw error;
    }
  }

  return {
    watch,
    async check() {
      const [state] = await pool.runStatement<{ isReadOnly: boolean }>(STATE, []);
      if (state?.isReadOnly !== false) throw storageFault(new Error('the database can only be read'));
      // Only after a failure: until then, writes prove that the disk has room.
      if (!writesFail) return;
      await watch(async () => {
        await pool.runStatement(fillProbe, fillProbe.cells({ filler: Buffer.alloc(FILLER_BYTES) }));
        await pool.runStatement(emptyProbe, []);
      });
    },
  };
}

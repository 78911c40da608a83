/** Writes texts to ClickHouse while the next ones are read. */

import type { SpanText, TextStore } from '../../clickhouse/texts.ts';

/** Texts of several projects are written together. */
const BYTES_PER_WRITE = 4 * 1024 * 1024;

type Part = {
  readonly texts: SpanText[];
  /** Copies that nothing needs. */
  readonly surplus: string[];
  /** What is done once all texts up to here are there. */
  readonly acts: (() => Promise<unknown>)[];
  bytes: number;
};

type Writing = {
  /** The clock of the database. Fails once its connection, and with that the lock of the mover, is lost. */
  readonly readClock: () => Promise<number>;
  readonly write: TextStore['write'];
  readonly remove: (places: readonly string[]) => Promise<void>;
};

const emptyPart = (): Part => ({ texts: [], surplus: [], acts: [], bytes: 0 });

export function createTextWrites({ readClock, write, remove }: Writing) {
  let part = emptyPart();
  let finish: () => Promise<void> = async () => undefined;

  /** Waits for what was sent. Where that fails, nothing that was added since counts either. */
  async function settle(): Promise<void> {
    const last = finish;
    finish = async () => undefined;
    try {
      await last();
    } catch (error) {
      part = emptyPart();
      throw error;
    }
  }

  async function send(): Promise<void> {
    await settle();
    const { texts, surplus, acts } = part;
    part = emptyPart();
    const writing = write(texts, await readClock());
    // Whoever settles is told.
    writing.catch(() => undefined);
    finish = async () => {
      await writing;
      await remove(surplus);
      for (const act of acts) await act();
    };
  }

  return {
    add(text: SpanText): void {
      part.texts.push(text);
      part.bytes += text.text.length;
    },
    removeLater: (places: readonly string[]) => void part.surplus.push(...places),
    thenDo: (act: () => Promise<unknown>) => void part.acts.push(act),
    async sendWhenFull(): Promise<void> {
      if (part.bytes >= BYTES_PER_WRITE) await send();
    },
    async end(): Promise<void> {
      await send();
      await settle();
    },
  };
}

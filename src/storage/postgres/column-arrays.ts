/** Columns of many rows as arrays in PostgreSQL's binary form: nothing is escaped here or parsed there. */

type Kind<Value> = {
  readonly oid: number;
  readonly bytesOf: (value: Value) => number;
  readonly write: (buffer: Buffer, value: Value, at: number) => void;
};

/** `read` answers what a row has in the column. */
type Encode<Value> = <Row>(rows: readonly Row[], read: (row: Row) => Value | null | undefined) => Buffer;

const LENGTH_BYTES = 4;
const HEAD_BYTES = 5 * LENGTH_BYTES;
const NULL_LENGTH = -1;
const TWO_TO_32 = 2 ** 32;
/** The largest number that fits an int8. Sums may get beyond it; they have long ceased to be exact then. */
export const INT8_MAX = 2 ** 63 - 1024;

export const boolArray = encodeAs<boolean>({
  oid: 16,
  bytesOf: () => 1,
  write: (buffer, value, at) => void buffer.writeUInt8(value ? 1 : 0, at),
});

export const int4Array = encodeAs<number>({
  oid: 23,
  bytesOf: () => 4,
  write: (buffer, value, at) => void buffer.writeInt32BE(value, at),
});

export const int8Array = encodeAs<number>({
  oid: 20,
  bytesOf: () => 8,
  write(buffer, value, at) {
    const fitting = Math.min(value, INT8_MAX);
    const high = Math.floor(fitting / TWO_TO_32);
    buffer.writeInt32BE(high, at);
    buffer.writeUInt32BE(fitting - high * TWO_TO_32, at + 4);
  },
});

export const float8Array = encodeAs<number>({
  oid: 701,
  bytesOf: () => 8,
  write: (buffer, value, at) => void buffer.writeDoubleBE(value, at),
});

export const textArray = encodeAs<string>({
  oid: 25,
  bytesOf: (value) => Buffer.byteLength(value),
  write: (buffer, value, at) => void buffer.write(value, at),
});

function encodeAs<Value>({ oid, bytesOf, write }: Kind<Value>): Encode<Value> {
  return (rows, read) => {
    const values = rows.map((row) => read(row) ?? null);
    const lengths = values.map((value) => (value === null ? NULL_LENGTH : bytesOf(value)));
    const bytes = lengths.reduce((sum, length) => sum + LENGTH_BYTES + Math.max(length, 0), HEAD_BYTES);
    const buffer = Buffer.allocUnsafe(bytes);
    let end = 0;
    // One dimension that may hold nulls, of so many values, counted from 1.
    for (const head of [1, 1, oid, rows.length, 1]) end = buffer.writeInt32BE(head, end);
    for (const [index, value] of values.entries()) {
      const length = lengths[index] ?? NULL_LENGTH;
      end = buffer.writeInt32BE(length, end);
      if (value === null) continue;
      write(buffer, value, end);
      end += length;
    }
    return buffer;
  };
}

/**
 * The kinds of columns. Each names its type in SQLite | PostgreSQL; other properties of a column, such as whether it
 * may be null, are in the description of its table. A property has the name it has in the domain; where the column's
 * name differs, the kind is given that name.
 */

import { defineEntity, type EntityMetadata, type Platform, p, Type } from '@mikro-orm/core';
import type { SearchRun } from '../../domain/traces/search/search-run.ts';
import { SHARED_FORMS } from '../rows/forms.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** An instant, in milliseconds since 1970. The property is called `...AtMs`, the column `..._at`. bigint | bigint */
export const instant = <Name extends string>(column: Name) => p.bigint('number').fieldName(column);

/** A whole number below 2^31. integer | int */
export const integer = () => p.integer();

/** A whole number below 2^53: durations, tokens, sequence numbers. bigint | bigint */
export const bigInteger = () => p.bigint('number');

/** Whole numbers below 2^53. Only PostgreSQL: bigint[] */
export const bigIntegers = () => p.type(BigIntegers).$type<readonly number[]>();

/** Whole numbers from -2^15 to 2^15 - 1. Only PostgreSQL: smallint[] */
export const smallIntegers = () => p.type(SmallIntegers).$type<Int16Array>();

/** An amount of money. bigint | bigint */
export const nanoUsd = <Name extends string>(column: Name) => p.bigint('number').fieldName(column);

/** double | double precision */
export const real = () => p.double().$type<number>();

/** Yes or no. integer | boolean */
export const flag = () => p.boolean();

/** Text that is only shown. text | text */
export const text = () => p.text();

/** JSON as text, because the order of its members is kept. The property is called `...Json`. text | text */
export const json = <Name extends string>(column: Name) => p.text().fieldName(column);

/** A value as JSON, which the code around compiled queries writes and reads. text | text */
export const parsed = <Value>(column: string) => p.type(new Stored('text', 'json')).fieldName(column).$type<Value>();

/** An enum value as text. text | text */
export const enumText = <Value extends string>() => p.text().$type<Value>();

/** An enum value as its code in rows/codes.ts. integer | int */
export const code = () => p.integer();

/** Hashes, and secrets that are sealed. blob | bytea */
export const bytes = () => p.blob().$type<Buffer>();

/** Text that is compared and ordered by its bytes. text | text COLLATE "C" */
export const id = () => p.text().collation('C');

/** An id from a sender. SQLite stores hexadecimal ids as bytes (compact-ids.ts). blob | text COLLATE "C" */
export const packedId = () => p.type(PackedId).collation('C').$type<string>();

/** The key of a request. SQLite stores hashed ones as bytes. blob | text COLLATE "C" */
export const requestKey = () => p.type(PackedKey).fieldName('request_key').collation('C').$type<string>();

/** Text that SQLite stores as a number where it has a code (codes.ts). blob | text */
export const packedText = () => p.type(PackedText).$type<string>();

/** Text of a receiver. The code around compiled queries drops the characters that PostgreSQL refuses. text | text */
export const receivedText = () => p.type(ReceivedText).$type<string>();

/** The envelope of an event, which SQLite stores without what envelopes have in common (compact-envelopes.ts). text | text */
export const packedEnvelope = () => p.type(PackedEnvelope).$type<string>();

/**
 * An enum value that is stored as its code in the named set of rows/codes.ts, and is text everywhere else. integer |
 * int
 */
export const enumCode = <Value extends string>(set: CodeSet) => p.type(new Stored('integer', set)).$type<Value>();

/** Inputs and outputs, as codes.ts shortens them. text | text */
export const typedJson = <Name extends string>(column: Name) =>
  p.type(new Stored('text', 'typedText')).fieldName(column).$type<string>();

/** A table without indexes beside its key. */
export function table<
  const Name extends string,
  const Table extends string,
  const Columns extends Record<string, unknown>,
>(name: Name, tableName: Table, properties: Columns) {
  return defineEntity({ name, tableName, properties });
}

/** Creation and last update. */
export const times = () => ({ createdAtMs: instant('created_at'), updatedAtMs: instant('updated_at') });

/**
 * A table of records that are found by id or by slug (management/slugs.ts), with columns of their own. A deleted record stays, while
 * its slug is free again.
 */
export const slugged = <const Name extends string, const Table extends string, Own extends object>(
  name: Name,
  tableName: Table,
  own: Own,
) => ({
  name,
  tableName,
  properties: {
    ...{ projectId: id().primary(), id: id().primary(), name: text(), slug: id() },
    ...own,
    ...times(),
    deletedAtMs: instant('deleted_at').strictNullable(),
  },
  uniques: [
    {
      name: `${tableName}_by_live_slug`,
      properties: ['projectId', 'slug'] as ('projectId' | 'slug')[],
      where: 'deleted_at is null',
    },
  ],
});

/** The columns of work on the traces that a search finds (management/traces.ts), beside its own. */
export const searchRun = () => ({
  ...{ projectId: id().primary(), id: id().primary(), searchJson: json('search') },
  status: enumText<SearchRun['status']>(),
  tracesFound: bigInteger().strictNullable(),
  isFoundExactly: flag(),
  error: text().strictNullable(),
  ...times(),
  // Until then no other worker takes the run.
  leasedUntilMs: instant('leased_until'),
  fence: bigInteger(),
  failures: integer(),
});

/** The names of the sets in rows/codes.ts. */
type CodeSet = Exclude<SharedForm, 'plain' | 'typedText' | 'json'>;

type SharedForm = keyof typeof SHARED_FORMS;

/** A column whose stored form differs from its value. */
export class Stored extends Type<unknown, string | number | null> {
  readonly form: SharedForm;
  private readonly columnType: 'integer' | 'text';

  constructor(columnType: 'integer' | 'text', form: SharedForm) {
    super();
    this.columnType = columnType;
    this.form = form;
  }

  override getColumnType(_: unknown, platform: Platform): string {
    return this.columnType === 'text' ? 'text' : platform.getIntegerTypeDeclarationSQL({});
  }

  override convertToDatabaseValue(value: unknown): string | number | null {
    return value === null || value === undefined
      ? null
      : (SHARED_FORMS[this.form].store(value as never) as string | number | null);
  }

  override convertToJSValue(stored: string | number | null): unknown {
    return stored === null || stored === undefined ? null : SHARED_FORMS[this.form].read(stored as never);
  }

  /** Values are compared by their stored forms. */
  override compareAsType(): string {
    return 'string';
  }
}

abstract class Packed extends Type<string> {
  override getColumnType(): string {
    return 'text';
  }
}

class BigIntegers extends Type<readonly number[]> {
  override getColumnType(): string {
    return 'bigint[]';
  }
}

class SmallIntegers extends Type<Int16Array> {
  override getColumnType(): string {
    return 'smallint[]';
  }
}

export class PackedId extends Packed {}
export class PackedKey extends Packed {}
export class PackedText extends Packed {}
export class ReceivedText extends Packed {}
export class PackedEnvelope extends Packed {}

const PACKED: ReadonlySet<unknown> = new Set([PackedId, PackedKey, PackedText]);

type Index = EntityMetadata['indexes'][number];

/** An index of one store alone. */
export function onlyOn<const I>(store: StoreKind, index: I): I & { readonly options: { readonly only: StoreKind } } {
  return { ...index, options: { only: store } };
}

/** Adapts a description to one store; for the option `discovery.onMetadata` of the object mapper. */
export function fitTo(store: StoreKind): (table: EntityMetadata) => void {
  return (table) => {
    table.indexes = table.indexes.filter((index) => isOf(index, store)).map(({ options: _, ...index }) => index);
    if (store === 'postgres') return;
    for (const column of Object.values(table.properties)) {
      // The default of SQLite.
      delete column.collation;
      // SQLite requires this very type for row numbers.
      if (column.autoincrement) column.columnTypes = ['integer'];
      // The type without affinity: a value is stored as it comes.
      if (PACKED.has(column.type)) column.columnTypes = ['blob'];
    }
  };
}

function isOf({ options }: Index, store: StoreKind): boolean {
  return options?.only === undefined || options.only === store;
}

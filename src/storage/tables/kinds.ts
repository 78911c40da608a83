/**
 * The kinds of columns. A kind says what a column holds, and behind its words which type that is in SQLite | PostgreSQL;
 * everything else about a column, such as whether it may be null, is said where its table is described. A property is
 * called as the domain calls it: where the column is called otherwise, its name is given to the kind.
 */

import { type EntityMetadata, type Platform, p, Type } from '@mikro-orm/core';

export type StoreKind = 'sqlite' | 'postgres';

/** An instant, in milliseconds since 1970. The property is called `...AtMs`, the column `..._at`. bigint | bigint */
export const instant = <Name extends string>(column: Name) => p.bigint('number').fieldName(column);

/** A whole number that stays below 2^31. integer | int */
export const whole = () => p.integer();

/** A whole number below 2^53: durations, tokens, places in a log. bigint | bigint */
export const large = () => p.bigint('number');

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

/** One of a closed set, as a word. text | text */
export const word = <Word extends string>() => p.text().$type<Word>();

/** One of a closed set, as the number that rows/codes.ts gives it. integer | int */
export const code = () => p.integer();

/** Hashes, and secrets that are sealed. blob | bytea */
export const bytes = () => p.blob().$type<Buffer>();

/** What is compared and ordered, by bytes, as everywhere in the product. text | text COLLATE "C" */
export const id = () => p.text().collation('C');

/** An id of a sender. SQLite keeps those that are hexadecimal digits as bytes (compact-ids.ts). blob | text COLLATE "C" */
export const packedId = () => p.type(PackedId).collation('C').$type<string>();

/** The key of a request. SQLite keeps those that are a hash as bytes. blob | text COLLATE "C" */
export const requestKey = () => p.type(PackedKey).fieldName('request_key').collation('C').$type<string>();

/** Of an open set of words: SQLite keeps those that have a number as that (codes.ts). blob | text */
export const packedWord = () => p.type(PackedWord).$type<string>();

/** One of a closed set, as the number that the named set of rows gives it, and a word to who uses it. integer | int */
export const codeOf = <Word extends string>(set: CodeSet) => p.type(new Stored('integer', set)).$type<Word>();

/** Inputs and outputs, as codes.ts shortens them. text | text */
export const typedJson = <Name extends string>(column: Name) =>
  p.type(new Stored('text', 'typedText')).fieldName(column).$type<string>();

/** By their names in rows. */
type CodeSet = 'attemptOutcomes' | 'deadReasons' | 'deliveryStatuses' | 'replayCounts' | 'replayStatuses' | 'spanTypes';

/** What is kept in another form than the one it is used in. The code around compiled questions translates. */
export class Stored extends Type<string | null, string | number | null> {
  readonly form: CodeSet | 'typedText';
  private readonly columnType: 'integer' | 'text';

  constructor(columnType: 'integer' | 'text', form: CodeSet | 'typedText') {
    super();
    this.columnType = columnType;
    this.form = form;
  }

  override getColumnType(_: unknown, platform: Platform): string {
    return this.columnType === 'text' ? 'text' : platform.getIntegerTypeDeclarationSQL({});
  }
}

abstract class Packed extends Type<string> {
  override getColumnType(): string {
    return 'text';
  }
}

export class PackedId extends Packed {}
export class PackedKey extends Packed {}
export class PackedWord extends Packed {}

const PACKED: ReadonlySet<unknown> = new Set([PackedId, PackedKey, PackedWord]);

type Index = EntityMetadata['indexes'][number];

/** An index that one store alone has use for. */
export function only<const I>(store: StoreKind, index: I): I & { readonly options: { readonly only: StoreKind } } {
  return { ...index, options: { only: store } };
}

/** Makes a description that of one store; for the option `discovery.onMetadata` of the object mapper. */
export function fitTo(store: StoreKind): (table: EntityMetadata) => void {
  return (table) => {
    table.indexes = table.indexes.filter((index) => isOf(index, store)).map(({ options: _, ...index }) => index);
    if (store === 'postgres') return;
    for (const column of Object.values(table.properties)) {
      // What SQLite does anyway.
      delete column.collation;
      // The number of a row has to be of this very type.
      if (column.autoincrement) column.columnTypes = ['integer'];
      // Without an affinity: a value is kept as it comes.
      if (PACKED.has(column.type)) column.columnTypes = ['blob'];
    }
  };
}

function isOf({ options }: Index, store: StoreKind): boolean {
  return options?.only === undefined || options.only === store;
}

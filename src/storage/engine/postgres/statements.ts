/** The statements of PostgreSQL. */

import * as appendPostgres from '../../append/queries-postgres.ts';
import { ReceivedText, Stored } from '../../entities/kinds.ts';
import { SHARED_FORMS } from '../../rows/forms.ts';
import * as searchPostgres from '../../search/queries-postgres.ts';
import type { Column } from '../../statements/columns.ts';
import { compileRooms } from '../../statements/compile.ts';
import { bindRooms } from '../../statements/runnable.ts';
import { SOURCES } from '../../statements/sources.ts';
import type { CompiledMany } from '../../statements/statement.ts';
import { toArray } from './binary-arrays.ts';
import { createDialect } from './dialect.ts';
import { openMapper, queryBuilderOn } from './mapper.ts';
import { dropNul } from './run-query.ts';

const ALL = { ...SOURCES, appendPostgres, searchPostgres };

export type PostgresQueries = {
  readonly [Room in keyof typeof ALL]: {
    readonly [Name in keyof (typeof ALL)[Room]]: CompiledMany<(typeof ALL)[Room][Name]>;
  };
};

let bound: PostgresQueries | undefined;

/** The same for every database of the process. */
export function openQueries(): PostgresQueries {
  bound ??= bindRooms<PostgresQueries>(
    compileRooms(ALL, {
      mapper: openMapper(),
      connection: queryBuilderOn(refuse),
      createDialect: (schema) => createDialect(schema, formOf),
      formOf,
      hasArrays: true,
    }),
    {
      forms: { ...SHARED_FORMS, receivedText: { store: dropNul, read: (text: string) => text } },
      toArray,
      hasListRows: false,
    },
  );
  return bound;
}

function refuse(): never {
  throw new Error('there is no database to run a statement on');
}

function formOf({ customType, type }: Column): string {
  const kind = customType ?? type;
  if (kind instanceof Stored) return kind.form;
  return kind instanceof ReceivedText ? 'receivedText' : 'plain';
}

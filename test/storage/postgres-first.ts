import { MIGRATIONS_TABLE } from '../../src/storage/migrations/migrations-table.ts';
import { POSTGRES_SCHEMAS } from '../../src/storage/migrations/postgres.ts';
import { query } from '../support/postgres-databases.ts';

/** Makes an empty database one as builds left it that knew only the first migration. */
export async function makeFirstOf(url: string): Promise<void> {
  const [first] = POSTGRES_SCHEMAS.migrations;
  await query(
    url,
    `${first?.script}; CREATE TABLE ${MIGRATIONS_TABLE} (id serial PRIMARY KEY, name varchar(255) NOT NULL,
       executed_at timestamptz(6) NOT NULL DEFAULT current_timestamp(6));
     INSERT INTO ${MIGRATIONS_TABLE} (name) VALUES ('${first?.name}')`,
  );
}

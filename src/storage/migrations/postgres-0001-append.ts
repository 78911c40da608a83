/** The first schema on PostgreSQL: what appends take from the database itself. */

export const APPEND = [
  'CREATE SEQUENCE trace_numbers INCREMENT BY 1000',
  `CREATE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'`,
];

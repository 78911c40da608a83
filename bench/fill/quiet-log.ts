/** What a store says while a database is filled interests nobody, unless it fails. */
export const quietLog = {
  error(fields: object, message: string): void {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  },
  warn(): void {},
};

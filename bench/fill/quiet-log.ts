/** Drops warnings of the store during a fill and prints errors. */
export const quietLog = {
  error(fields: object, message: string): void {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  },
  warn(): void {},
};

/** A log for stores under test: what goes wrong on purpose need not be read. */
export const quietLog = {
  warn: (_fields: object, _message: string): void => undefined,
  error: (_fields: object, _message: string): void => undefined,
};

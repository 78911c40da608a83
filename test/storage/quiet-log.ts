/** A log for stores under test that drops intended errors. */
export const quietLog = {
  warn: (_fields: object, _message: string): void => undefined,
  error: (_fields: object, _message: string): void => undefined,
};

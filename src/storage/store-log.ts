/** Where a store tells what its operator should know. */

export type StoreLog = {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

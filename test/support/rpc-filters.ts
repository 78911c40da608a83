/** The filters of a request over RPC, from the object that REST takes. */

type Lists = Readonly<Record<string, readonly string[]>>;

export function rpcFilters(filters: object) {
  return Object.entries(filters as Readonly<Record<string, readonly string[] | Lists>>).flatMap(([name, held]) => {
    if (isList(held)) return [{ name, values: [...held] }];
    return Object.entries(held).map(([key, values]) => ({ name, key, values: [...values] }));
  });
}

function isList(held: readonly string[] | Lists): held is readonly string[] {
  return Array.isArray(held);
}

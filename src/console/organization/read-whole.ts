/** Reads a list to its end, page by page. */

/** Of 200 items each, as many as the server gives at once. */
const PAGES_MAX = 50;

export type Page<Item> = { readonly data: readonly Item[]; readonly nextPageToken?: string | undefined };
export type Whole<Item> = {
  readonly items: readonly Item[];
  /** Whether there are more than were read. */
  readonly isCut: boolean;
};

export async function readWhole<Item>(read: (pageToken: string) => Promise<Page<Item>>): Promise<Whole<Item>> {
  const items: Item[] = [];
  let pageToken = '';
  for (let count = 1; count <= PAGES_MAX; count += 1) {
    const { data, nextPageToken = '' } = await read(pageToken);
    items.push(...data);
    if (nextPageToken === '') return { items, isCut: false };
    pageToken = nextPageToken;
  }
  return { items, isCut: true };
}

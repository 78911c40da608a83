/** Remembers whether writes fail. Until one does, writes prove that the disk has room, and a check need not try one. */
export function createWriteWatch(isStorageFailure: (error: unknown) => boolean) {
  let writesFail = false;
  return {
    async watch<T>(write: () => T | Promise<T>): Promise<T> {
      try {
        const answer = await write();
        writesFail = false;
        return answer;
      } catch (error) {
        if (isStorageFailure(error)) writesFail = true;
        throw error;
      }
    },
    doWritesFail: () => writesFail,
  };
}

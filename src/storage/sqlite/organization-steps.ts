/** A step of retention that goes from organization to organization. */

export type OrganizationStep = {
  /** Organizations up to this number have nothing more to remove. */
  readonly afterOrganization: number;
  readonly rowsMax: number;
  /** Asked now and then: the step ends when there is no time left. */
  readonly isOver: () => boolean;
};

/** `next` is where the following step begins; null when nothing is left. */
export type OrganizationStepEnd = { readonly removed: number; readonly next: number | null };

/** What a step removes from. */
export type Removal = {
  readonly nextOrganization: (after: number) => number | undefined;
  /** Answers how many it has removed; fewer than it may when the organization has no more. */
  readonly removeOldest: (organization: number, countMax: number) => number;
};

// The time is looked at after so many removals.
const REMOVED_PER_LOOK = 16;

export function stepOrganizations(
  { afterOrganization, rowsMax, isOver }: OrganizationStep,
  { nextOrganization, removeOldest }: Removal,
): OrganizationStepEnd {
  let finished = afterOrganization;
  let removed = 0;
  let examined = 0;
  // However little time there is, every step gets somewhere.
  while (examined === 0 || (examined < rowsMax && !isOver())) {
    const organization = nextOrganization(finished);
    if (organization === undefined) return { removed, next: null };
    const wanted = Math.min(REMOVED_PER_LOOK, rowsMax - examined);
    const count = removeOldest(organization, wanted);
    removed += count;
    // An organization without anything to remove costs about as much as a removal.
    examined += Math.max(1, count);
    if (count < wanted) finished = organization;
  }
  return { removed, next: finished };
}

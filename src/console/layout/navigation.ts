/** The pages there are, and what a key needs for each. */

export type NavItem = { readonly to: string; readonly label: string; readonly permission: string | null };

export const PROJECT_ITEMS = [
  { to: '/$slug/traces', label: 'Traces', permission: 'traces:view' },
] as const satisfies readonly NavItem[];

export const ORGANIZATION_ITEMS = [] as const satisfies readonly NavItem[];

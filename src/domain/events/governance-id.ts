/** The id of an event of a virtual key or a budget, from what identifies it. Escapes commas: deliveries join ids with them. */
export function governanceEventId(parts: readonly (string | number)[]): string {
  return parts.map((part) => String(part).replaceAll('%', '%25').replaceAll(',', '%2C')).join(':');
}

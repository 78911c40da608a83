/** What the claims of an issuer say about a person, and what the operator makes of them. */

import { Fault } from '../fault.ts';
import type { MemberRole } from '../organization/member-grants.ts';

export type ClaimRules = {
  /** Domains of e-mail addresses, in lower case, whose people become members. */
  readonly allowedDomains: readonly string[];
  /** Whether addresses of those domains count that the issuer does not say it has verified. */
  readonly trustsEmail: boolean;
  /** The claim with the groups of a person; null: the issuer decides about no roles. */
  readonly roleClaim: string | null;
  readonly roleMap: ReadonlyMap<string, MemberRole>;
  /** The role of new members, and of people without a group in the map. */
  readonly defaultRole: MemberRole;
};

/** What a token that was checked says about a person. */
export type Claims = {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | null;
  /** Null where the issuer does not say it. */
  readonly isEmailVerified: boolean | null;
  readonly name: string | null;
  readonly groups: readonly string[];
};

/** An address without blanks and control characters. Other letters could become those of another address in lower case. */
const EMAIL = /^(?=.{3,320}$)[\x21-\x3F\x41-\x7E]+@([\x21-\x3F\x41-\x7E]+)$/;

type Address = { readonly email: string; readonly isAllowed: boolean };

/** The address in lower case, and whether its domain is allowed. Throws sign_in_refused for one that links to nobody. */
export function verifiedAddress(
  { allowedDomains, trustsEmail }: Pick<ClaimRules, 'allowedDomains' | 'trustsEmail'>,
  { email, isEmailVerified }: Pick<Claims, 'email' | 'isEmailVerified'>,
): Address {
  const [, domain = ''] = EMAIL.exec(email ?? '') ?? [];
  if (email === null || domain === '') throw refusal('The issuer names no e-mail address by which you could be known.');
  const isAllowed = allowedDomains.includes(domain.toLowerCase());
  if (isEmailVerified === false) throw refusal('The issuer has not verified your e-mail address.');
  if (isEmailVerified === null && !(trustsEmail && isAllowed)) {
    throw refusal('The issuer does not say that it has verified your e-mail address.');
  }
  return { email: email.toLowerCase(), isAllowed };
}

/** From most to least, because people are in several groups. */
const ROLES: readonly MemberRole[] = ['ADMIN', 'MEMBER', 'VIEWER', 'EXTERNAL'];

/** The role that the issuer gives; null where it decides about none. */
export function roleOfClaims(rules: ClaimRules, { groups }: Pick<Claims, 'groups'>): MemberRole | null {
  if (rules.roleClaim === null) return null;
  const given = new Set(groups.map((group) => rules.roleMap.get(group)));
  return ROLES.find((role) => given.has(role)) ?? rules.defaultRole;
}

export function refusal(message: string): Fault {
  return new Fault('sign_in_refused', message);
}

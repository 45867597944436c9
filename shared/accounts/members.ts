import { type Account, type Member, operatorEmail } from './account.ts';

/** The people of an account. Pure. */

/** The name of an account is at most this long. */
export const maxNameLength = 60;

/** The name of an account; without one, the address of its first owner. */
export const accountName = (account: Account): string =>
  account.name ?? account.members.find(({ role }) => role === 'owner')?.email ?? account._id;

/** The addresses that get the mails about keys and failing webhooks: of the owners and developers, not the operator's. */
export const mailedAddresses = ({ members }: Account): string[] =>
  members
    .filter(({ email, role }) => (role === 'owner' || role === 'developer') && email !== operatorEmail)
    .map(({ email }) => email);

/** An account as its signed-in member sees it. */
export interface CurrentAccount extends Account {
  name: string;
  member: Member;
  /** The other accounts of the same person, by name; at most 100. */
  others: OtherAccount[];
}

/** An account of a person, with the person's id in it. */
export interface OtherAccount {
  _id: string;
  name: string;
  memberId: string;
}

/** The account with the member who has this id, and with the person's other accounts; null if there is no such member. */
export function currentAccount(
  account: Account,
  memberId: string,
  ofPerson: readonly OtherAccount[],
): CurrentAccount | null {
  const member = account.members.find(({ id }) => id === memberId);
  if (!member) return null;
  const others = ofPerson.filter(({ _id }) => _id !== account._id).sort((a, b) => a.name.localeCompare(b.name));
  return { ...account, name: accountName(account), member, others };
}

/**
 * True if a text can be the name of an account. Invitations contain the name, so it must not look like a link, a
 * mail's markup or a phone number: it has letters, digits, spaces and plain punctuation, no domain name, no 5 digits in
 * a row, and no 7 digits with only punctuation between them.
 */
export const isAccountName = (text: string): boolean =>
  text.length <= maxNameLength &&
  /^[\p{L}\p{N}][\p{L}\p{M}\p{N} .,&'’()+-]*$/u.test(text) &&
  !/[\p{L}\p{N}]\.[\p{L}\p{N}]{2,}/u.test(text) &&
  !/\p{N}{5}|(?:\p{N}[ .,&'’()+-]*){7}/u.test(text);

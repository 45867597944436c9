/** What no log, queue or error may hold of a ride, of the people of an account, or of their mails. */
export const canaries = {
  note: 'CANARY-note',
  name: 'CANARY-name',
  phone: '+15550009999',
  address: 'CANARY-street',
  mailbox: 'canary-mailbox',
};

/** Personal data of rides, account members and mails. No log, queue or error may contain it. */
export const canaries = {
  note: 'CANARY-note',
  name: 'CANARY-name',
  phone: '+15550009999',
  address: 'CANARY-street',
  mailbox: 'canary-mailbox',
};

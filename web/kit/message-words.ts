import type { MessageKind, MessageState, Person } from '../../shared/messages/message-kinds.ts';

/** The words of pages about text messages. */

export const messageKindWords: Record<MessageKind, string> = {
  booked: 'ride booked',
  found: 'driver found',
  arrived: 'car is here',
  completed: 'ride ended',
  cancelled: 'ride cancelled',
  replaced: 'driver cancelled',
};

export const personWords = (person: Person): string => person.replace('contact', 'contact ');

export const messageStateWords: Record<MessageState, string> = {
  waiting: 'waiting',
  sent: 'sent',
  delivered: 'delivered',
  failed: 'failed',
  expired: 'not sent: too late',
  opted_out: 'not sent: the number has opted out',
  limited: 'not sent: limit reached',
  kept: 'not sent: test',
};

/** The status whose color a message's state has. */
export const messageTone: Record<MessageState, 'waiting' | 'delivered' | 'failed' | 'no_url'> = {
  ...{ waiting: 'waiting', sent: 'delivered', delivered: 'delivered', failed: 'failed' },
  ...{ expired: 'failed', opted_out: 'failed', limited: 'failed', kept: 'no_url' },
};

const reasons: Record<string, string> = {
  number: 'This number gets at most 60 messages in an hour.',
  account: "The account's daily number of messages is reached.",
  outdated: 'A later message to the same person was ready before this one could be sent.',
  no_sms_url: 'The service has no provider of text messages.',
  timeout: 'The provider did not answer in time. It may have sent the message.',
  error_21211: 'The provider says that the number is not valid.',
  error_30003: 'The phone is off or out of reach.',
  error_30005: 'The number does not exist.',
  error_30006: 'The number is a landline, or cannot get text messages.',
};

/** Why a message was not delivered, in one sentence. */
export const messageReason = (reason: string): string => reasons[reason] ?? `The provider's code is ${reason}.`;

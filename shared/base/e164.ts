import { parsePhoneNumberFromString } from 'libphonenumber-js/min';

/** True for a phone number that a text can be sent to: valid, and in E.164 form such as +12025550143. Pure. */
export function canBeTexted(phone = ''): boolean {
  const number = parsePhoneNumberFromString(phone);
  return number?.number === phone && number.isValid();
}

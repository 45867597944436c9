import type { Texts } from './english.ts';

/** The text messages in Hebrew, in ICU MessageFormat. */
export const hebrew: Texts = {
  'passenger.booked': 'הנסיעה שלך הוזמנה: {time}. נשלח לך הודעה כשיימצא נהג.',
  'passenger.found':
    '{driver} בדרך לאסוף אותך, בעוד כ־{minutes} דק׳: {vehicle}, מספר רישוי \u2068{plate}\u2069. מפה חיה: {link}',
  'passenger.foundLater': 'איסוף: {time}, עם {driver}. {vehicle}, מספר רישוי \u2068{plate}\u2069. מפה חיה: {link}',
  'passenger.arrived': 'הרכב שלך הגיע: {vehicle}, מספר רישוי \u2068{plate}\u2069. {link}',
  'passenger.cancelled': 'הנסיעה שלך בוטלה.',
  'passenger.replaced': 'הנהג ביטל. אנחנו מחפשים רכב אחר ונשלח לך הודעה כשיימצא.',
  'contact.found':
    '{driver} בדרך לאסוף את {isNamed, select, yes {{passenger}} other {הנוסע}}, בעוד כ־{minutes} דק׳: {vehicle}, מספר רישוי \u2068{plate}\u2069. מעקב אחר הנסיעה: {link}',
  'contact.foundLater':
    'איסוף של {isNamed, select, yes {{passenger}} other {הנוסע}}: {time}, עם {driver}. {vehicle}, מספר רישוי \u2068{plate}\u2069. מעקב אחר הנסיעה: {link}',
  'contact.completed': 'הנסיעה של {isNamed, select, yes {{passenger}} other {הנוסע}} הסתיימה ביעד.',
  'contact.cancelled': 'הנסיעה של {isNamed, select, yes {{passenger}} other {הנוסע}} בוטלה.',
  'contact.replaced': 'הנהג של {isNamed, select, yes {{passenger}} other {הנוסע}} ביטל. אנחנו מחפשים רכב אחר.',
};

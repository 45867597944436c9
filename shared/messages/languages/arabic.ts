import type { Texts } from './english.ts';

/** The text messages in Arabic, in ICU MessageFormat. */
export const arabic: Texts = {
  'passenger.booked': 'تم حجز رحلتك: {time}. سنراسلك عند العثور على سائق.',
  'passenger.found':
    'سيصل {driver} لاصطحابك خلال {minutes, plural, one {دقيقة} two {دقيقتين} few {# دقائق} other {# دقيقة}} تقريبًا: {vehicle}، لوحة \u2068{plate}\u2069. الخريطة المباشرة: {link}',
  'passenger.foundLater':
    'موعد الاصطحاب: {time}، مع {driver}. {vehicle}، لوحة \u2068{plate}\u2069. الخريطة المباشرة: {link}',
  'passenger.arrived': 'وصلت سيارتك: {vehicle}، لوحة \u2068{plate}\u2069. {link}',
  'passenger.cancelled': 'تم إلغاء رحلتك.',
  'passenger.replaced': 'ألغى السائق الرحلة. نبحث عن سيارة أخرى وسنراسلك عند العثور عليها.',
  'contact.found':
    'سيصل {driver} لاصطحاب {isNamed, select, yes {{passenger}} other {الراكب}} خلال {minutes, plural, one {دقيقة} two {دقيقتين} few {# دقائق} other {# دقيقة}} تقريبًا: {vehicle}، لوحة \u2068{plate}\u2069. تابع الرحلة: {link}',
  'contact.foundLater':
    'موعد اصطحاب {isNamed, select, yes {{passenger}} other {الراكب}}: {time}، مع {driver}. {vehicle}، لوحة \u2068{plate}\u2069. تابع الرحلة: {link}',
  'contact.completed': 'انتهت رحلة {isNamed, select, yes {{passenger}} other {الراكب}} عند الوجهة.',
  'contact.cancelled': 'تم إلغاء رحلة {isNamed, select, yes {{passenger}} other {الراكب}}.',
  'contact.replaced': 'ألغى سائق {isNamed, select, yes {{passenger}} other {الراكب}} الرحلة. نبحث عن سيارة أخرى.',
};

export const mailBoxPath = '/dev/mail';

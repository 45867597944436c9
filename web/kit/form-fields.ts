/** The names of the hidden fields with the form id, and with the account for which the page was rendered (forms.tsx). */
export const formIdField = 'formId';
export const accountField = 'account';

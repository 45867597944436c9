import { expect } from 'chai';
import { h } from 'preact';
import { printable } from '../../cli/columns.ts';
import { characterFault, isolated, shownCode, shownText } from '../../shared/base/shown-text.ts';
import { oneLine } from '../../shared/mail/mail.ts';
import { renderHtml } from '../../web/kit/render.ts';

describe('a text that somebody typed', () => {
  it('is shown with spaces for control characters, and without the controls of direction', () => {
    expect(shownText('Ada\u0000Byron\u000b\u202eevil\u2066x\u2069\u200f\r\n!')).to.equal('Ada Byron evilx  !');
  });

  it('keeps its letters, accents, emoji and joiners', () => {
    for (const text of ['Zoë', '👩‍🚒', 'نامه‌ای', 'דנה', '王小明']) expect(shownText(text)).to.equal(text);
  });

  it('is isolated in a longer text if it is read from right to left, and only once', () => {
    expect(isolated('سارة')).to.equal('\u2068سارة\u2069');
    expect(isolated(isolated('סارة'))).to.equal('\u2068סارة\u2069');
    expect(shownText(isolated('سارة'))).to.equal('\u2068سارة\u2069');
    expect(isolated('Ada')).to.equal('Ada');
    expect(shownText('\u2068a\u202eb\u2069')).to.equal('ab');
  });

  it('keeps the order of a phone number in a text from right to left', () => {
    expect(isolated('سارة +1 202 555 0100, 12')).to.equal('\u2068سارة\u2069 +1 202 555 0100, 12');
    expect(isolated('سارة +1 202 555 0100 سارة')).to.equal('\u2068سارة \u2066+1 202 555 0100\u2069 سارة\u2069');
    expect(isolated('4.8 ★ سارة علي · $20.00')).to.equal('4.8 ★ \u2068سارة علي\u2069 · $20.00');
    expect(shownText(isolated('سارة +1 202'))).to.equal(isolated('سارة +1 202'));
    expect(isolated('Ada +1 202')).to.equal('Ada +1 202');
  });

  it('is cleaned and isolated in every element and attribute of a page', () => {
    const page = h('p', { title: 'a\u202eb' }, 'سارة', ' +1 202 ', h('input', { type: 'text', value: 'a\u0000b' }));
    expect(renderHtml(page)).to.equal('<p title="ab"><bdi>سارة</bdi> +1 202 <input type="text" value="a b"/></p>');
    expect(renderHtml(h('bdi', null, 'سارة a\u202eb'))).to.equal('<bdi>سارة ab</bdi>');
    expect(renderHtml(h('p', null, 'سارة +1 202'))).to.equal('<p><bdi>سارة</bdi> +1 202</p>');
    expect(renderHtml(h('p', null, '4.8 ★ سارة علي · $20'))).to.equal('<p>4.8 ★ <bdi>سارة علي</bdi> · $20</p>');
    expect(renderHtml(h('input', { type: 'hidden', value: 'a\u202eb' }))).to.include('a\u202eb');
    expect(renderHtml(h('title', null, 'سارة'))).to.equal('<title>سارة</title>');
    expect(renderHtml(h('code', null, '"a\u202eb"'))).to.equal('<code>&quot;a\\u202eb&quot;</code>');
  });

  it('in code, its invisible characters are shown as escapes that mean the same', () => {
    const text = JSON.stringify({ name: 'a\u202eb\u0000\u007f' });
    expect(JSON.parse(shownCode(text))).to.deep.equal(JSON.parse(text));
    expect(shownCode(text)).to.include('\\u202e').and.to.include('\\u007f');
  });

  it('adds no lines to a mail, and no commands to a terminal', () => {
    expect(oneLine(' Desk\r\nBcc: x\u202e ')).to.equal('Desk Bcc: x');
    expect(oneLine('دسك')).to.equal('\u2068دسك\u2069');
    expect(printable('\u001b[31mred\u202e')).to.equal(' [31mred');
  });

  it('is refused by our forms and commands with the name of the invisible character', () => {
    expect(characterFault('Desk\u202e')).to.equal('must not contain the invisible character U+202E');
    expect(characterFault('\u0000')).to.include('U+0000');
    expect(characterFault('سارة, Zoë')).to.equal(undefined);
  });
});

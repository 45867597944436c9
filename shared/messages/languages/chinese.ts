import type { Texts } from './english.ts';

/** The text messages in Chinese (simplified), in ICU MessageFormat. */
export const chinese: Texts = {
  'passenger.booked': '您的行程已预订：{time}。找到司机后我们会短信通知您。',
  'passenger.found': '{driver} 约 {minutes} 分钟后来接您：{vehicle}，车牌 {plate}。实时地图：{link}',
  'passenger.foundLater': '{driver} 将于 {time} 来接您：{vehicle}，车牌 {plate}。实时地图：{link}',
  'passenger.arrived': '您的车已到：{vehicle}，车牌 {plate}。{link}',
  'passenger.cancelled': '您的行程已取消。',
  'passenger.replaced': '您的司机取消了行程。我们正在寻找另一辆车，找到后会短信通知您。',
  'contact.found':
    '{driver} 约 {minutes} 分钟后去接{isNamed, select, yes { {passenger}} other {乘客}}：{vehicle}，车牌 {plate}。跟踪行程：{link}',
  'contact.foundLater':
    '{driver} 将于 {time} 去接{isNamed, select, yes { {passenger}} other {乘客}}：{vehicle}，车牌 {plate}。跟踪行程：{link}',
  'contact.completed': '{isNamed, select, yes {{passenger} } other {乘客}}的行程已到达目的地。',
  'contact.cancelled': '{isNamed, select, yes {{passenger} } other {乘客}}的行程已取消。',
  'contact.replaced': '{isNamed, select, yes {{passenger} } other {乘客}}的司机取消了行程。我们正在寻找另一辆车。',
};

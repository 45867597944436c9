import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class Verify {
    private static final Pattern SIGNATURE =
            Pattern.compile("t=([0-9]{1,15}),v1=([0-9a-f]{64})");

    /**
     * Whether an event is genuine and recent. `signature` is the header
     * X-Service-Signature, `rawBody` the body as it came: verify before you parse it.
     * `now` is in Unix seconds: System.currentTimeMillis() / 1000.
     */
    public static boolean verify(String secret, String signature, byte[] rawBody, long now)
            throws GeneralSecurityException {
        var parts = SIGNATURE.matcher(signature == null ? "" : signature);
        if (!parts.matches()) return false;
        var mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        mac.update((parts.group(1) + ".").getBytes(StandardCharsets.UTF_8));
        var expected = mac.doFinal(rawBody);
        var given = HexFormat.of().parseHex(parts.group(2));
        var age = Math.abs(now - Long.parseLong(parts.group(1)));
        return MessageDigest.isEqual(expected, given) && age < 300;
    }

    private Verify() {}
}

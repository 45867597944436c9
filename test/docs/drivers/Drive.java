import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Reads one case per line and prints `true` or `false` for each one: see verifiers.test.ts. */
public final class Drive {
    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            var fields = line.split(" ");
            var secret = new String(bytes(fields[0]), StandardCharsets.UTF_8);
            var signature = new String(bytes(fields[1]), StandardCharsets.UTF_8);
            System.out.println(Verify.verify(secret, signature, bytes(fields[2]), Long.parseLong(fields[3])));
        }
    }

    private static byte[] bytes(String field) {
        return HexFormat.of().parseHex(field.substring(1));
    }
}
